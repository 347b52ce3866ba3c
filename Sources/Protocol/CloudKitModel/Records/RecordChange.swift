/// An entry of a zone's change feed for one record.
public enum RecordChange: Sendable, Hashable {
  /// The record exists. The value is the record's latest state; earlier states have no entries.
  case saved(Record)
  /// The record is deleted.
  case deleted(RecordID, recordType: String)
}
