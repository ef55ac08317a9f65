"""Why nodes will not do, and where a gang finds no room. Pure."""
