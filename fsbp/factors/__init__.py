"""Factors: one file each, all with the contract of `fsbp.factors.base`."""
