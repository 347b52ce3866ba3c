import Testing

/// What every store does, whatever its engine: one test for each rule of `Store`'s
/// documentation. Each runs on every `StoreEngine`.
enum RecordStoreConformance {}
