import CloudKit
import PetrelTesting
import Testing

@Test("the guide's program accepts a share from its link, and from the URL of its own scheme")
func acceptsInvitations() async throws {
  let cloud = try await TestCloud()
  let anna = cloud.container(user: "anna", device: "iphone")
  let zone = CKRecordZone(zoneName: "Notes")
  try await anna.privateCloudDatabase.save(zone)
  let share = CKShare(recordZoneID: zone.zoneID)
  share.publicPermission = .readOnly
  try await anna.privateCloudDatabase.save(share)
  let saved = try await anna.privateCloudDatabase.record(for: share.recordID) as? CKShare
  let url = try #require(saved?.url)

  for (name, argument) in [
    ("ben", url.absoluteString), ("cleo", "notes://share/\(url.lastPathComponent)"),
  ] {
    let container = cloud.container(user: name, device: "laptop")
    // A second time the share is accepted already.
    for _ in 0..<2 { try await ShareInvitations(container: container).open(argument) }
    let zones = try await container.sharedCloudDatabase.allRecordZones()
    #expect(zones.map(\.zoneID.zoneName) == ["Notes"])
  }
}
