"""The data nodes of a cluster: who is up, who is not and what that means, and how they are."""
