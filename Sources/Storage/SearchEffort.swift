/// How far a search goes one way before it looks for another. Tests make it turn early.
///
/// Where it says so, efforts are counted in index entries: reading one in order takes a tenth of a
/// microsecond.
struct SearchEffort: Sendable {
  /// Records that are cheap to read whole and put in order.
  var fewRecords = 2_000
  /// Entries that are read to learn whether candidates are few, where sort keys follow each other, or
  /// filters are several.
  var longLook = 20_000
  /// Records with one value that are put in order by themselves; more are left to the index of the
  /// next sort key.
  var groupLimit = 2_000
  /// Entries whose time is spent on records for nothing before paths are read for their sake.
  var patience = 4_096
  /// Entries whose time is spent from one such reading to the next.
  var interval = 2_048
  /// The page is as good as full when so many entries' time will fill it.
  var closeness = 32_768
  /// Entries that a walk passes before it is compared with reading all candidates.
  var walkLimit = 4_096
  /// Records that are looked through for those without a value, before the others are counted out.
  var absencePatience = 1_000
  /// Index entries that are counted to compare paths.
  var probeLimit = 4_096

  /// What reading a record takes, in entries.
  static let recordCost = 36
}
