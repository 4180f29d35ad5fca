"""Ordinary answers of many kinds, made by seeded generators, in each wire's form."""
