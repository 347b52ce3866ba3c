/// What a database's change feed says of one zone: that something in it changed, or that it is gone.
public enum ZoneChange: Sendable, Hashable {
  case changed(ZoneID)
  case deleted(ZoneID)
}
