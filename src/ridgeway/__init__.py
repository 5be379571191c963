"""Ridgeway."""
