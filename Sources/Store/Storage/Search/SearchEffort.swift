/// The costs of a search's steps. Tests change them to force every way of searching.
///
/// Costs are in index entries: reading one in order takes about 80 nanoseconds.
///
/// A search adds up what it spends in the same unit, and compares it with the cost of cache
/// entries.
struct SearchEffort: Sendable {
  /// The cost of reading a record by its number and checking it.
  var recordCost = 36.0
  /// The cost of looking up a record's rank in cached columns.
  var rankCost = 0.4
  /// The fraction of an index that searches must have scanned before its column is cached (0–1); an
  /// eighth of it for a list.
  var columnShare = 0.1
  /// The entries of one condition that a search reads before it requests a list of them.
  var listThreshold = 4_096
  /// Whether a search makes a wanted entry itself, instead of requesting it for later searches.
  var fillsCache = false
  /// The most records changed between two uses of an entry; it is dropped beyond that.
  var changeLimit = 1_000
  /// The entries gathered of each condition to estimate its members.
  var peek = 2_048
  /// The most records with one value that are sorted in memory; more are left to the index of the
  /// next sort key.
  var groupLimit = 2_000
  /// The most records of a zone that are sorted in memory.
  var fewRecords = 2_000
  /// The most records scanned for those without a value, before the others are excluded by the
  /// index.
  var absenceLimit = 1_000
  /// The handler that is called with each step of a plan, and whether it asks about records on the
  /// way.
  var observe: (@Sendable (SearchPlan.Step, _ asks: Bool) -> Void)?
  /// The handler that is called when candidates are ranked by columns.
  var observeRanking: (@Sendable () -> Void)?
}
