"""What a host does between two looks at what its kernel counts: processors, disks, memory, swap, network."""
