/// The costs of the steps of a search, and its limits. Tests change them to force a way of
/// searching.
///
/// The unit of costs is an index entry: the time to read one entry of the value index in order,
/// about 80 nanoseconds.
///
/// A search compares its cost with that of making an entry of the search cache.
struct SearchEffort: Sendable {
  /// Reading a record by its number and checking it.
  var recordCost = 36.0
  /// Looking up a record's place in cached columns (``CandidateRanking``).
  var rankCost = 0.4
  /// The cost that searches must have spent before a column is cached, as a fraction (0–1) of the
  /// database's highest record number. For a list, an eighth of it is enough.
  var columnShare = 0.1
  /// The index entries spent on one condition before its missing cache entries count.
  var listThreshold = 4_096
  /// Whether a search makes a missing cache entry itself, instead of requesting it.
  var fillsCache = false
  /// The records saved between two uses of a cache entry at which it is removed.
  var changeLimit = 1_000
  /// The index entries read of each condition for an estimate.
  var peek = 2_048
  /// The most records with one value that are sorted in memory. With more, the search follows the
  /// index of the next sort key.
  var groupLimit = 2_000
  /// The most records of a zone that a query without sort keys reads as a whole.
  var fewRecords = 2_000
  /// The most records read to find those without a value. If that is not enough, the index
  /// excludes those with a value.
  var absenceLimit = 1_000
  /// Called for each step of a plan, in tests. `asks` says that the step looks up single records.
  var observe: (@Sendable (SearchPlan.Step, _ asks: Bool) -> Void)?
  /// Called when candidates are sorted by cached columns, in tests.
  var observeRanking: (@Sendable () -> Void)?
}
