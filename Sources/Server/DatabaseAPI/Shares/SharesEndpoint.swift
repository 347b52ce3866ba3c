import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `records/resolve`, `records/accept` and `records/requestAccess`.
struct SharesEndpoint: Sendable {
  let store: ShareService
  let databases: DatabaseDirectory
  let links: AssetLinks

  var operations: [Operation] {
    let answer = "One item for each short GUID, in order."
    return [
      Operation(
        "records/resolve", of: .anyDatabase, for: .users, .reads, resolve,
        isOfParticipants: true,
        .init("Sharing", "Look at shares by their short GUIDs", answer: answer)),
      Operation(
        "records/accept", of: .anyDatabase, for: .users, .changes, accept,
        isOfParticipants: true, .init("Sharing", "Take part in shares", answer: answer)),
      Operation(
        "records/requestAccess", of: .anyDatabase, for: .users, .changes, requestAccess,
        isOfParticipants: true, .init("Sharing", "Request access to shares", answer: answer)),
    ]
  }

  /// Answers `records/resolve`: one item for each short GUID, in the order of the request.
  ///
  /// An item fails with `NOT_FOUND` if the caller may not see the share, and if there is none. The
  /// answer then waits (``AnswerPace``), so that its time does not distinguish the two.
  private func resolve(
    _ request: ResolveSharesRequest, _ context: RequestContext
  ) async throws -> SharesResponse {
    let found = try await store.shares(
      request.items.map {
        ShareRequest(shortGUID: $0.shortGUID, fetchesRootRecord: $0.fetchesRootRecord)
      }, for: try context.user(), of: context.path.container, in: context.path.environment)
    return try await response(to: zip(request.items, found), context)
  }

  /// Answers `records/accept`: one item for each short GUID, in the order of the request. An item
  /// fails by itself.
  private func accept(
    _ request: ResolveSharesRequest, _ context: RequestContext
  ) async throws -> SharesResponse {
    let origin = try context.origin()
    var accepted: [Result<VisibleShare, ItemFailure>] = []
    for item in request.items {
      do {
        let share = try await store.accept(
          ShareRequest(
            shortGUID: item.shortGUID, fetchesRootRecord: item.fetchesRootRecord), by: origin,
          of: context.path.container, in: context.path.environment, timestamp: context.now)
        accepted.append(.success(share))
      } catch let failure as ItemFailure {
        accepted.append(.failure(failure))
      }
    }
    return try await response(to: zip(request.items, accepted), context)
  }

  private func response(
    to items: some Sequence<(ResolveSharesRequest.Item, Result<VisibleShare, ItemFailure>)>,
    _ context: RequestContext
  ) async throws -> SharesResponse {
    var results: [Result<SharesResponse.Share, FailedItem>] = []
    for (item, result) in items {
      switch result {
      case .success(let share):
        results.append(.success(try await answer(to: item, share, context)))
      case .failure(let failure):
        // A link that leads nowhere is found out earlier than a share that the user may not see.
        context.pace.hideSearch()
        results.append(
          .failure(FailedItem(.share(shortGUID: item.shortGUID), ServiceError(failure))))
      }
    }
    return SharesResponse(results: context.reported(results))
  }

  private func answer(
    to item: ResolveSharesRequest.Item, _ found: VisibleShare, _ context: RequestContext
  ) async throws -> SharesResponse.Share {
    // For others than the owner, the URLs of files name the reader, whose sight of the share is checked
    // at each download.
    var database = found.database
    if found.participant.role != .owner, found.hasFiles {
      var context = context
      context.path.scope = .shared
      database = try await databases.database(for: context)
    }
    let link = found.participant.acceptance == .accepted ? nil : item.shortGUID
    let share = try await links.linked(found.share, in: database, byLink: link)
    var root = found.rootRecord
    if var record = root {
      if let keys = item.rootRecordDesiredKeys {
        record.fields = record.fields.filter { keys.contains($0.key) }
      }
      root = try await links.linked(record, in: database, byLink: link)
    }
    let participant = found.participant
    return SharesResponse.Share(
      shortGUID: item.shortGUID, containerIdentifier: context.path.container,
      environment: context.path.environment,
      databaseScope: participant.role == .owner ? .private : .shared, zoneID: found.zoneID,
      rootRecordName: found.rootRecordName, rootRecord: root, share: share,
      ownerIdentity: found.owner, permission: participant.permission,
      acceptance: participant.acceptance, role: participant.role, url: share.shareContent?.url)
  }

  /// Answers `records/requestAccess`: one item for each short GUID, in the order of the request.
  ///
  /// A success says nothing about the share: it is the same whether the share exists or not. Only a
  /// user who is invited gets `PARTICIPANT_ALREADY_INVITED`.
  private func requestAccess(
    _ request: RequestAccessRequest, _ context: RequestContext
  ) async throws -> RequestAccessResponse {
    let user = try context.user()
    context.pace.hideSearch()
    var results: [Result<RequestAccessResponse.Item, FailedItem>] = []
    for shortGUID in request.shortGUIDs {
      do {
        try await store.requestAccess(
          to: shortGUID, for: user, of: context.path.container, in: context.path.environment,
          timestamp: context.now)
        results.append(.success(.init(shortGUID: shortGUID)))
      } catch let failure as ItemFailure {
        results.append(.failure(FailedItem(.share(shortGUID: shortGUID), ServiceError(failure))))
      }
    }
    return RequestAccessResponse(results: context.reported(results))
  }
}

extension VisibleShare {
  fileprivate var hasFiles: Bool {
    [share, rootRecord].contains { record in
      record?.fields.contains { $0.value.isAsset } == true
    }
  }
}
