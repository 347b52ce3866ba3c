import Testing

/// The tests that every store must pass, whatever its engine: one test for each rule of `Store`'s
/// documentation. Each runs on every `StoreEngine`.
enum RecordStoreConformance {}
