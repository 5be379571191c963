"""From a posterior density to its modes, their evidence, and a mixture of Gaussians over the hyperparameters."""
