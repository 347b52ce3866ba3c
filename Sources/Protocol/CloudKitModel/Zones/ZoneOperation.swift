/// One operation on one zone (`zones/modify`).
public enum ZoneOperation: Sendable, Hashable {
  /// Creates a zone. The operation succeeds without an effect when the zone exists.
  case create(ZoneID)
  /// Deletes a zone with its records.
  case delete(ZoneID)
}
