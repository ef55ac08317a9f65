"""Group events.k8s.io v1.

Read by gangline.api.notation, which explains the notation. Facts only: names, types, list keys.
"""

TABLE = """
Event +meta
  eventTime microtime!; series EventSeries?; reportingController str; reportingInstance str; action str; reason str;
  regarding ObjectReference; related ObjectReference?; note str; type str; deprecatedSource EventSource;
  deprecatedFirstTimestamp time; deprecatedLastTimestamp time; deprecatedCount int32
EventSeries
  count int32!; lastObservedTime microtime!
"""
