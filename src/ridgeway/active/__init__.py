"""Choosing experiments: acquisitions, their maximisation, and the learner that asks for experiments."""
