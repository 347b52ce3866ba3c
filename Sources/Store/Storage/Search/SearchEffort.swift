/// The costs of the steps of a search, and its limits. Tests change them to force a certain way of
/// searching.
///
/// The unit of costs is an index entry: the time to read one entry of the value index in order,
/// about 80 nanoseconds.
///
/// A search counts its own cost in the same unit, and compares it with the cost of making an entry
/// of the search cache.
struct SearchEffort: Sendable {
  /// The cost of reading a record by its number and checking it.
  var recordCost = 36.0
  /// The cost of looking up a record's place in the order in cached columns (``CandidateRanking``).
  var rankCost = 0.4
  /// The cost that searches must have spent without a column before the column is cached. The
  /// property is a fraction (0–1) of the highest record number in the database. For a list, an
  /// eighth of that cost is enough.
  var columnShare = 0.1
  /// The number of index entries that a search must have spent on one condition before the
  /// condition's missing cache entries count.
  var listThreshold = 4_096
  /// Whether a search makes a missing cache entry itself, instead of requesting it for later
  /// searches.
  var fillsCache = false
  /// The most records that may be saved between two uses of a cache entry. If more were saved, the
  /// entry is removed from the cache.
  var changeLimit = 1_000
  /// The number of index entries that a search reads of each condition, to estimate how many
  /// records meet the condition.
  var peek = 2_048
  /// The most records with the same value that are sorted in memory. If there are more, the search
  /// follows the index of the next sort key.
  var groupLimit = 2_000
  /// The most records of a zone for which a query without sort keys reads the whole zone.
  var fewRecords = 2_000
  /// The most records that a search reads to find those without a value. If that is not enough, the
  /// search excludes the records with a value by the index.
  var absenceLimit = 1_000
  /// A handler that is called for each step of a plan, for tests. `asks` is true if the step looks
  /// up single records in the index.
  var observe: (@Sendable (SearchPlan.Step, _ asks: Bool) -> Void)?
  /// A handler that is called when candidates are sorted by cached columns, for tests.
  var observeRanking: (@Sendable () -> Void)?
}
