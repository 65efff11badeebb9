"""Message families: one file each, all with the contract of `fsbp.messages.base`."""
