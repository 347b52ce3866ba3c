import StoreModel

/// The parts of a store that an explainer reads. The explainer writes nothing.
public struct ExplanationStore: Sendable {
  var changeHistory: any ChangeHistoryStore
  var databases: any DatabaseReading
  var devices: any DeviceReading
  var outbox: any OutboxReading
  var records: any RecordReading

  /// Combines the parts.
  public init(
    changeHistory: any ChangeHistoryStore, databases: any DatabaseReading,
    devices: any DeviceReading, outbox: any OutboxReading, records: any RecordReading
  ) {
    self.changeHistory = changeHistory
    self.databases = databases
    self.devices = devices
    self.outbox = outbox
    self.records = records
  }

  /// Selects the parts from a complete store.
  public init(_ store: any Store) {
    self.init(
      changeHistory: store.changeHistory, databases: store.databases,
      devices: store.devices, outbox: store.outbox, records: store.records)
  }
}
