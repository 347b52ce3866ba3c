package import CloudKitModel

/// The position at which a query continues after a page of results. Apps use the name
/// `CKQueryOperation.Cursor`.
///
/// The program cannot read the contents. The cursor contains the query and the zone, so a new
/// operation needs only the cursor. A cursor can be archived. It cannot change.
open class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The query as it was sent. In its predicate, `now()` is replaced by the date of the first
  /// request.
  package let query: Query
  /// The zone to search; nil means all zones.
  package let zoneID: ZoneID?
  /// The text by which the server knows the position.
  package let continuationMarker: String

  /// Makes the cursor of the next page from the server's answer.
  package init(query: Query, zoneID: ZoneID?, continuationMarker: String) {
    self.query = query
    self.zoneID = zoneID
    self.continuationMarker = continuationMarker
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a cursor from an archive. Returns nil, and makes the decoder fail, if the query or the
  /// marker is missing.
  public required init?(coder: NSCoder) {
    guard let query = coder.decodeOptional(CKQuery.self, forKey: "query"),
      // If the query is not valid, the cursor is nil, as it is without a query.
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

  /// Returns the cursor itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKQueryCursor else { return false }
    return query == other.query && zoneID == other.zoneID
      && continuationMarker == other.continuationMarker
  }

  open override var hash: Int { continuationMarker.hashValue }
}
