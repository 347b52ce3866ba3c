/// One operation on one zone (`zones/modify`).
public enum ZoneOperation: Sendable, Hashable {
  /// Making a zone that exists is no failure.
  case create(ZoneID)
  case delete(ZoneID)
}
