/// An entry of a database's change feed for one zone.
public enum ZoneChange: Sendable, Hashable {
  /// The zone is new, or something in it changed.
  case changed(ZoneID)
  /// The zone is deleted.
  case deleted(ZoneID)
}
