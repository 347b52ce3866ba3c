/// An entry of a zone's change feed for one record.
public enum RecordChange: Sendable, Hashable {
  /// The record exists. The value is its latest state, not each state in between.
  case saved(Record)
  /// The record is deleted.
  case deleted(RecordID, recordType: String)
}
