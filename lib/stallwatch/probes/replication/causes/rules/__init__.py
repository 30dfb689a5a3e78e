"""The rules: each looks at a case and gives its cause, or None where it does not apply."""
