import CloudKit

/// A copy of the public database's earthquakes that follows their changes.
struct FollowedEarthquakes {
  let database: CKDatabase
  private(set) var savedToken: CKServerChangeToken?
  private(set) var names: Set<String> = []

  init(_ database: CKDatabase) { self.database = database }

  mutating func follow() async throws {
    do {
      var changes = try await database.petrelPublicChanges(
        since: savedToken, recordTypes: ["Earthquake"])
      while true {
        apply(changes.modificationResultsByID, changes.deletions)
        savedToken = changes.changeToken
        guard changes.moreComing else { break }
        changes = try await database.petrelPublicChanges(
          since: savedToken, recordTypes: ["Earthquake"])
      }
    } catch let error as CKError where error.code == .changeTokenExpired {
      // The server no longer knows all deletions since: drop what is kept, and read everything again.
      savedToken = nil
    }
  }

  private mutating func apply(
    _ modifications: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
    _ deletions: [CKDatabase.RecordZoneChange.Deletion]
  ) {
    names.formUnion(modifications.keys.map(\.recordName))
    names.subtract(deletions.map(\.recordID.recordName))
  }
}
