/// What a zone's change feed says of one record: its latest state, or that it is gone.
public enum RecordChange: Sendable, Hashable {
  case saved(Record)
  case deleted(RecordID, recordType: String)
}
