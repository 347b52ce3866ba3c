package import CloudKitModel

/// Where a query left off: `CKQueryOperation.Cursor`. Opaque; it holds the query with it.
open class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The query as it was sent, with `now()` as it was then.
  package let query: Query
  /// The zone that was searched; nil for all.
  package let zoneID: ZoneID?
  /// What the server calls the place.
  package let continuationMarker: String

  package init(query: Query, zoneID: ZoneID?, continuationMarker: String) {
    self.query = query
    self.zoneID = zoneID
    self.continuationMarker = continuationMarker
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard let query = coder.decodeOptional(CKQuery.self, forKey: "query"),
      // A cursor that cannot be read is nil, as decoding has it.
      let model = try? query.model(now: .now),
      let marker = coder.decodeOptionalString(forKey: "continuationMarker")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.query = model
    zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "zoneID")?.model
    continuationMarker = marker
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(CKQuery(query), forKey: "query")
    coder.encode(zoneID.map { CKRecordZone.ID($0) }, forKey: "zoneID")
    coder.encodeOptional(continuationMarker, forKey: "continuationMarker")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKQueryCursor else { return false }
    return query == other.query && zoneID == other.zoneID
      && continuationMarker == other.continuationMarker
  }

  open override var hash: Int { continuationMarker.hashValue }
}
