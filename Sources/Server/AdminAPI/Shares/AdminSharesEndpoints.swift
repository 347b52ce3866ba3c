import CloudKitModel
import DatabaseAPI
import Storage
import StoreModel
import WebServices

/// The endpoints `shares…`, which list and show shares, remove participants, end shares and replace
/// links, and `records/readers`, which says who sees a record.
///
/// A share is named by its owner, its zone and the name of its record:
///
///     POST shares/remove
///     { "container": "iCloud.com.example.app", "owner": "anna", "zone": "Notes",
///       "share": "Share-0f3a…", "participant": "bob" }
///
/// The changes are the owner's: participants find them in their change feeds.
struct AdminSharesEndpoints: AdminEndpoints {
  let store: ShareAdministrationService
  let accounts: AccountService
  let databases: AdminDatabases
  let links: AssetLinks

  private static let owner = AdminArgument(
    "owner", .text, "the owner: a name or a user record name", "USER")
  private static let zone = AdminArgument("zone", .text, "the zone of the share", "NAME")
  private static let share = AdminArgument(
    "share", .text,
    "the name of the share's record; that of a zone's share is \(ShareContent.zoneShareName)",
    "SHARE")
  private static let participant = AdminArgument(
    "participant", .text,
    "the name of an account, a user record name, the address of an invitation, or a participantID",
    "PARTICIPANT")
  private static let filteredOwner = AdminArgument(
    "owner", .text, "only shares of this owner: a name or a user record name", "USER")
  private static let member = AdminArgument(
    "participant", .text, "only shares with this participant: a name or a user record name",
    "USER")

  private static let place = AdminArgument.place + [owner.needed, zone.needed]
  private static let one = place + [share.needed]

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "shares",
      AdminArgument.place + [filteredOwner, member, .limit, .continuation],
      "Shares with their owners and the numbers of their participants",
      answers: .page("shares", of: ListedShare.shape), Self.list),
    .get(
      "shares/show", Self.one, "A share with its participants and its link",
      answers: ShownShare.shape, Self.show),
    .post(
      "shares/remove", Self.one + [Self.participant.needed],
      "Removes a participant from a share, or withdraws an invitation",
      answers: ShownShare.shape, Self.remove),
    .post(
      "shares/end", Self.one, "Ends a share; its records stay with the owner",
      answers: .member("ended"), Self.end),
    .post(
      "shares/new-link", Self.one,
      "Replaces the link of a share; the old one is unknown from then on",
      answers: ShownShare.shape, Self.renewLink),
    .get(
      "records/readers", Self.place + [.recordName.needed],
      "Who sees a record of a private database, and by which share",
      answers: Self.readers, Self.readers),
  ]

  // MARK: Lists

  /// Returns a page of shares. One request examines a limited number of shares, so a page can have a
  /// continuation although it has fewer rows than `limit`.
  private func list(_ request: AdminRequest) async throws -> AdminPage<ListedShare> {
    let arguments = request.arguments
    var filter = ShareFilter(place: try arguments.place())
    if arguments.text(Self.owner) != nil {
      filter.database = try await databases.store.existingDatabase(at: address(arguments))
      // An owner without a private database has shared nothing.
      guard filter.database != nil else { return AdminPage() }
    }
    if let name = arguments.text(Self.member) {
      filter.participant = try await databases.userRecordName(name, of: Self.member, arguments)
    }
    let parts = try AdminContinuation.parts(arguments, count: 2)
    let last = parts.flatMap { parts in
      Int64(parts[0]).flatMap { database in
        Int64(parts[1]).map {
          ShareSummary.Place(database: DatabaseID(rawValue: database), number: $0)
        }
      }
    }
    guard (parts == nil) == (last == nil) else {
      throw arguments.mistake(.continuation, "is not a continuation of this list")
    }
    let page = try await store.shares(filter, after: last, limit: arguments.limit)
    let names = try await accounts.userNames(of: Set(page.found.map(\.owner)))
    return AdminPage(
      elements: page.found.map { ListedShare(share: $0, names: names) },
      continuation: page.next.map {
        AdminContinuation.text(["\($0.database.rawValue)", "\($0.number)"])
      })
  }

  // MARK: Single shares

  private func show(_ request: AdminRequest) async throws -> ShownShare {
    let (shareID, database) = try await named(request.arguments)
    return try await shown(shareID, in: database)
  }

  private func remove(_ request: AdminRequest) async throws -> ShownShare {
    let (shareID, database) = try await named(request.arguments)
    let name = try request.arguments.required(Self.participant)
    let share = try await existing(shareID, in: database)
    let user = try await accounts.user(named: name)?.userRecordName ?? name
    let participants = share.record.shareContent?.participants ?? []
    guard let participant = participants.first(where: { $0.isNamed(name, user: user) }),
      let participantID = participant.participantID
    else {
      throw ServiceError(
        .notFound,
        "share '\(shareID.recordName)' has no participant '\(name.prefix(80))'; see petrel shares show"
      )
    }
    try await store.removeParticipant(
      participantID, from: shareID, in: database, timestamp: request.now)
    return try await shown(shareID, in: database)
  }

  private func end(_ request: AdminRequest) async throws -> String {
    let (shareID, database) = try await named(request.arguments)
    try await store.endShare(shareID, in: database, timestamp: request.now)
    return shareID.recordName
  }

  private func renewLink(_ request: AdminRequest) async throws -> ShownShare {
    let (shareID, database) = try await named(request.arguments)
    try await store.renewLink(of: shareID, in: database, timestamp: request.now)
    return try await shown(shareID, in: database)
  }

  // MARK: Readers of a record

  private typealias NamedReaders = (readers: RecordReaders, names: [String: String])
  private typealias Reader = (user: ShownUser, role: ShareRole, permission: SharePermission)

  private static let reader = AnswerShape<Reader> { reader in
    reader.members(of: ShownUser.shape) { $0.user }
    reader.member("role") { $0.role }
    reader.member("permission") { $0.permission }
  }

  private static let readers = AnswerShape<NamedReaders>("RecordReaders") { named in
    named.list("readers", of: reader) { named in
      let owner = named.readers.owner
      return [(ShownUser(userRecordName: owner, name: named.names[owner]), .owner, .readWrite)]
        + named.readers.participants.map { participant in
          let user = participant.identity.userRecordName ?? ""
          return (
            ShownUser(userRecordName: user, name: named.names[user]), participant.role,
            participant.permission
          )
        }
    }
    named.optional("share", ListedShare.shape) { named in
      named.readers.share.map { ListedShare(share: $0, names: named.names) }
    }
  }

  /// Returns the owner of a record and the participants who see it.
  private func readers(_ request: AdminRequest) async throws -> NamedReaders {
    let (zoneID, database) = try await zone(request.arguments)
    let name = try request.arguments.required(.recordName)
    guard
      let readers = try await store.readers(
        of: RecordID(recordName: name, zoneID: zoneID), in: database)
    else {
      throw ServiceError(
        .notFound, "there is no record '\(name.prefix(80))' in zone '\(zoneID.zoneName)'")
    }
    let users = readers.participants.compactMap(\.identity.userRecordName)
    return (readers, try await accounts.userNames(of: Set(users + [readers.owner])))
  }

  // MARK: Arguments

  private func address(_ arguments: AdminArguments) async throws -> DatabaseAddress {
    let place = try arguments.place()
    return DatabaseAddress(
      container: place.container, environment: place.environment, scope: .private,
      owner: try await databases.userRecordName(
        arguments.required(Self.owner), of: Self.owner, arguments))
  }

  /// Returns the zone that the arguments name, and the owner's private database.
  private func zone(_ arguments: AdminArguments) async throws -> (ZoneID, DatabaseID) {
    guard let database = try await databases.store.existingDatabase(at: address(arguments)) else {
      throw ServiceError(
        .notFound, "the owner has no private database in this container and environment")
    }
    return (ZoneID(zoneName: try arguments.required(Self.zone)), database)
  }

  private func named(_ arguments: AdminArguments) async throws -> (RecordID, DatabaseID) {
    let (zoneID, database) = try await zone(arguments)
    return (
      RecordID(recordName: try arguments.required(Self.share), zoneID: zoneID), database
    )
  }

  /// Returns a share without its URL. Throws `NOT_FOUND` if there is none.
  private func existing(
    _ shareID: RecordID, in database: DatabaseID
  ) async throws -> AdministeredShare {
    guard let share = try await store.share(shareID, in: database) else {
      throw ServiceError(
        .notFound,
        "there is no share '\(shareID.recordName.prefix(80))' in zone '\(shareID.zoneID.zoneName)'; "
          + "see petrel shares list")
    }
    return share
  }

  private func shown(_ shareID: RecordID, in database: DatabaseID) async throws -> ShownShare {
    var shown = ShownShare(share: try await existing(shareID, in: database), names: [:])
    shown.share.record = try await links.linked(shown.share.record, in: database)
    shown.names = try await accounts.userNames(of: shown.mentionedUsers)
    return shown
  }
}

extension ShareParticipant {
  /// Whether a name stands for the participant.
  ///
  /// - Parameters:
  ///   - name: an identifier in the share, a user record name, or the address of the invitation.
  ///   - user: the user record name of the account with this name; otherwise the same text.
  fileprivate func isNamed(_ name: String, user: String) -> Bool {
    if participantID == name || identity.userRecordName == user { return true }
    guard let lookup = identity.lookup else { return false }
    // A text that is no address is not the address of an invitation.
    let email = try? UserLookup.canonicalEmailAddress(name)
    let phone = try? UserLookup.canonicalPhoneNumber(name)
    return (email != nil && lookup.emailAddress == email)
      || (phone != nil && lookup.phoneNumber == phone)
  }
}
