/// How far a search goes one way before it looks for another. Tests make it turn early.
struct SearchEffort: Sendable {
  /// Records that are cheap to read whole and put in order.
  var fewRecords = 1_000
  /// Index entries that are read to learn whether candidates are few, where sort keys follow each
  /// other.
  var longLook = 20_000
  /// Records with one value that are put in order by themselves; more are left to the index of the
  /// next sort key.
  var groupLimit = 1_500
  /// Records that are read for nothing before other paths are looked at.
  var patience = 512
  /// Records that are read for nothing from one look at other paths to the next.
  var interval = 128
  /// Entries that a walk passes before it is compared with reading all candidates.
  var walkLimit = 4_096
  /// Records that are looked through for those without a value, before the others are counted out.
  var absencePatience = 1_000
  /// Index entries that are counted to compare paths.
  var probeLimit = 16_384
}
