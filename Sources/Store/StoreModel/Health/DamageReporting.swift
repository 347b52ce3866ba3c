/// Reports damage to the files of a store.
public protocol DamageReporting: Sendable {
  /// What shows that the store is damaged; nil while nothing does. Once it is known, nothing is read from
  /// the store any more, nor written: everything throws ``StoreError/Code/corrupt``.
  var damage: String? { get }
  /// Has it told once when damage is found, or when a PostgreSQL that the store is in finds some.
  func setDamageHandler(_ handler: (@Sendable (String) -> Void)?)
  /// Has it told once when the disk failed to sync the store's file. What it was given then may be lost,
  /// though it can be read for a while, and nothing is served any more. It is still in the log, from
  /// which the next process to open the store takes it: so this one should end.
  func setUnsyncedHandler(_ handler: (@Sendable (String) -> Void)?)
}
