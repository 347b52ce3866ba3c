/// What the steps of a search take. Tests change it so that searches go every way.
///
/// Efforts are counted in index entries: reading one in order takes about 80 nanoseconds.
struct SearchEffort: Sendable {
  /// Reading a record by its number, and looking at it.
  var recordCost = 36.0
  /// Looking up a record's place in the order in columns of keys.
  var rankCost = 0.4
  /// What part of the entries of an index have to be read for want of a column before it is made; an
  /// eighth of that for want of a list.
  var columnShare = 0.1
  /// Entries of one condition that a search reads before it tells that it wants a list of them.
  var listPatience = 4_096
  /// Whether a search that wants an entry makes it, instead of having it made for the next ones.
  var fillsCache = false
  /// Records that are changed at most between two looks at an entry; it is given up when more are.
  var changePatience = 1_000
  /// Entries that are gathered of each condition to learn how many records meet it.
  var peek = 2_048
  /// Records with one value that are put in order by themselves; more are left to the index of the
  /// next sort key.
  var groupLimit = 2_000
  /// Records of a zone that are put in order by themselves.
  var fewRecords = 2_000
  /// Records that are looked through for those without a value, before the others are counted out.
  var absencePatience = 1_000
  /// Is told each step of a plan, and whether it asks about records on the way.
  var observe: (@Sendable (SearchPlan.Step, _ asks: Bool) -> Void)?
  /// Is told when candidates are put in order by columns.
  var observeRanking: (@Sendable () -> Void)?
}
