import CloudKit

/// The part of an app that takes up invitations to shares.
struct ShareInvitations {
  let container: CKContainer

  /// Opens the link of a share that the program gets as an argument.
  func open(_ argument: String) async throws {
    guard let url = URL(string: argument) else { return }
    let metadata = try await container.shareMetadata(for: url)
    try await userDidAcceptCloudKitShare(with: metadata)
  }

  func userDidAcceptCloudKitShare(with metadata: CKShare.Metadata) async throws {
    // The share is accepted already if the user pressed Accept on the server's page.
    if metadata.participantStatus == .pending {
      try await container.accept(metadata)
    }
    let zone = try await container.sharedCloudDatabase.recordZone(
      for: metadata.share.recordID.zoneID)
    print("\(zone.zoneID.zoneName) is shared with you")
  }
}
