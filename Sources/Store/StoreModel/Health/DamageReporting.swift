/// The reports of damage to the files of a store. The server logs damage; it ends its process after
/// a failed `fsync`.
public protocol DamageReporting: Sendable {
  /// A description of the damage to the store; nil if none is known. Once it is set, the store
  /// neither reads nor writes: every call throws ``StoreError/Code/corrupt``, or
  /// ``StoreError/Code/diskFailed`` after a failed sync.
  var damage: String? { get }
  /// Sets the handler that is called once when damage is found, by Petrel or by the PostgreSQL
  /// server.
  func setDamageHandler(_ handler: (@Sendable (String) -> Void)?)
  /// Sets the handler that is called once when an `fsync` of the store's file fails. Changes since
  /// the last sync may be lost from the file, even if they can still be read, so the store serves
  /// no more requests. They are still in the log. End the process: the next one to open the store
  /// recovers them.
  func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?)
}
