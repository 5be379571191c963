"""The Gaussian process on an embedding, at one value of its hyperparameters: algebra only, no search.

Kernels, embeddings, the conditioned process, its likelihood with gradient and Hessian, priors, and the
moments of predictions with the hyperparameters integrated out. Everything is a function of arrays.
"""
