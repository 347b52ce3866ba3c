package import CloudKitModel

/// The position at which a query continues: `CKQueryOperation.Cursor`.
///
/// The program cannot look inside. The cursor contains the query and the zone, so it is all that a
/// new operation needs. It can be archived and cannot change.
open class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The query as it was sent. `now()` is already the date of the first page.
  package let query: Query
  /// The zone that is searched; nil means all zones.
  package let zoneID: ZoneID?
  /// The server's name for the position.
  package let continuationMarker: String

  /// Makes the cursor that follows an answer of the server.
  package init(query: Query, zoneID: ZoneID?, continuationMarker: String) {
    self.query = query
    self.zoneID = zoneID
    self.continuationMarker = continuationMarker
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a cursor from an archive. Returns nil, and makes the decoder fail, if a part is missing.
  public required init?(coder: NSCoder) {
    guard let query = coder.decodeOptional(CKQuery.self, forKey: "query"),
      // A query that cannot be read makes the cursor nil, as other missing parts do.
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
