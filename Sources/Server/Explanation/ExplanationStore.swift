import StoreModel

/// What the explainer reads of a store. It writes nothing.
public struct ExplanationStore: Sendable {
  var changeHistory: any ChangeHistoryStore
  var databases: any DatabaseReading
  var outbox: any OutboxReading
  var records: any RecordReading

  public init(
    changeHistory: any ChangeHistoryStore, databases: any DatabaseReading,
    outbox: any OutboxReading, records: any RecordReading
  ) {
    self.changeHistory = changeHistory
    self.databases = databases
    self.outbox = outbox
    self.records = records
  }

  /// The parts of a whole store.
  public init(_ store: any Store) {
    self.init(
      changeHistory: store.changeHistory, databases: store.databases, outbox: store.outbox,
      records: store.records)
  }
}
