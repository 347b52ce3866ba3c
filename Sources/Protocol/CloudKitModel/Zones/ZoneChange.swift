/// An entry of a database's change feed for one zone.
public enum ZoneChange: Sendable, Hashable {
  /// The zone is new, or something in it changed.
  case changed(ZoneID)
  /// An app has deleted the zone.
  case deleted(ZoneID)
  /// The operator of the server has deleted the zone, outside of the app.
  case purged(ZoneID)
}
