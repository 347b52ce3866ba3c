import StoreModel

/// What the explainer reads of a store. It writes nothing.
public typealias ExplanationStore = ChangeHistoryStore & DatabaseReading & OutboxReading
  & RecordReading
