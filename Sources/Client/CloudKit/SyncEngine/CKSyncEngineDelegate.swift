/// The part of an app that a ``CKSyncEngine`` works with: it handles events, and supplies the records to
/// send.
///
/// The engine calls one method at a time, and waits until it returns.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
  /// Handles an event.
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

  /// Returns the next changes of records to send; `nil` if there are none.
  ///
  /// The engine calls the method until it returns `nil` or a batch has a failure. The changes must be
  /// in the scope of the context's options.
  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch?

  /// Returns the options of the next request of a fetch. The default returns those of the context.
  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
  /// Returns the options of the context.
  public func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    context.options
  }
}
