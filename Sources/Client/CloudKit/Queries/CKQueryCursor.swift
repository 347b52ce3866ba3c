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
  package let continuationMarker: String

  package init(query: Query, zoneID: ZoneID?, continuationMarker: String) {
    self.query = query
    self.zoneID = zoneID
    self.continuationMarker = continuationMarker
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a cursor from an archive. Returns nil, and makes the decoder fail, if the position is
  /// missing.
  ///
  /// A cursor of Apple's framework has no query. No Petrel server knows its position, and a query
  /// that continues there fails.
  public required init?(coder: NSCoder) {
    guard let data = coder.decodeOptional(NSData.self, forKey: "CursorData").map({ $0 as Data })
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    let query = coder.decodeOptional(CKQuery.self, forKey: "query")
    // A query that is not valid is none.
    self.query = (try? query?.model(now: .now)) ?? Query(recordType: "", filters: [])
    zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "ZoneID")?.model
    continuationMarker = String(data: data, encoding: .utf8) ?? data.base64EncodedString()
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    if !query.recordType.isEmpty { coder.encode(CKQuery(query), forKey: "query") }
    coder.encode(zoneID.map { CKRecordZone.ID($0) }, forKey: "ZoneID")
    coder.encode(Data(continuationMarker.utf8) as NSData, forKey: "CursorData")
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
