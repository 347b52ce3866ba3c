/// The reports of damage to a store. The server writes damage to its log. After a failed `fsync`,
/// the server ends its process.
public protocol DamageReporting: Sendable {
  /// A description of the damage found in the store's file, or of a failed `fsync` of the file. Nil
  /// if there is none, and for a store that is not in a file. After damage, every call that reads
  /// or writes throws ``StoreError/Code/corrupt``; after a failed `fsync`,
  /// ``StoreError/Code/diskFailed``.
  var damage: String? { get }
  /// Sets the handler that is called once when damage is found in the store's file, or by
  /// PostgreSQL; nil removes the handler. If damage was found already, the method calls the handler
  /// at once. The handler gets a description of the damage.
  func setDamageHandler(_ handler: (@Sendable (String) -> Void)?)
  /// Sets the handler that is called once when an `fsync` of the store's file fails; nil removes
  /// the handler. If an `fsync` has failed already, the method calls the handler at once. The
  /// handler gets a description of the failure.
  ///
  /// After the failure, the disk may lack changes that can still be read from memory, so the store
  /// refuses all requests. The write-ahead log has these changes. End the process: the next process
  /// that opens the store recovers them from the log.
  func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?)
}
