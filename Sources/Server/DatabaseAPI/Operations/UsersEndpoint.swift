import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `users/…`: the caller, the users whom the caller can find, and the caller's
/// permissions. `users/permissions` is Petrel's addition.
struct UsersEndpoint: Sendable {
  /// The most users that the server reads for an answer that lists all.
  private static let listLimit = 1000

  let store: AccountService

  var operations: [Operation] {
    let all = "all other users who permit the app to find them, at most \(Self.listLimit)"
    let found =
      "The users that were found, in the form of Apple's reference and in that of users/discover."
    return [
      Operation(
        "users/caller", of: .anyDatabase, for: .accounts, .reads, caller,
        .init("Users", "The caller", answer: "The caller's user dictionary.")),
      Operation(
        "users/current", of: .anyDatabase, for: .accounts, .reads, current,
        .init(
          "Users", "The caller, before users/caller replaced it", answer: "The caller.")),
      Operation(
        "users/discover", of: .anyDatabase, for: .users, .reads, maybe: discover,
        .init(
          "Users", "Users by address, number or record name",
          "Without a body: \(all). The server does not return other users who do not permit it.",
          answer: "The users that were found, each with the address, number or name that matched.")),
      Operation(
        "users/lookup/email", of: .anyDatabase, for: .users, .reads, lookUpEmail,
        .init("Users", "Users by e-mail address", answer: found)),
      Operation(
        "users/lookup/id", of: .anyDatabase, for: .users, .reads, lookUpID,
        .init("Users", "Users by record name", answer: found)),
      Operation(
        "users/lookup/contacts", of: .anyDatabase, for: .users, .reads, maybe: lookUpContacts,
        .init(
          "Users", "Users by the entries of an address book",
          "Without contacts: \(all).", answer: found)),
      Operation(
        "users/permissions", of: .anyDatabase, for: .users, .changes, maybe: permissions,
        .init(
          "Users",
          "The caller's permissions for the app; with a body, grant or deny a permission",
          "Petrel's own.", answer: "Each permission.")),
    ]
  }

  /// Answers `users/caller`: the caller's user dictionary. A server-to-server key has a record name
  /// only.
  private func caller(_ context: RequestContext) async throws -> UserResponse {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return UserResponse(
      userRecordName: userRecordName, nameComponents: profile?.nameComponents,
      lookup: UserLookup(
        emailAddress: profile?.emailAddress, phoneNumber: profile?.phoneNumber,
        userRecordName: userRecordName))
  }

  /// Answers `users/current`, which clients used before `users/caller`.
  private func current(_ context: RequestContext) async throws -> CurrentUserResponse {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return CurrentUserResponse(
      userRecordName: userRecordName, firstName: profile?.nameComponents?.givenName,
      lastName: profile?.nameComponents?.familyName, emailAddress: profile?.emailAddress)
  }

  // MARK: Finding others

  /// Answers `users/discover`. Without a body it lists all other users who permit discovery; with a
  /// body it lists only users for whom the request asks.
  private func discover(
    _ request: FindUsersRequest<UserDiscovery>?, _ context: RequestContext
  ) async throws -> UsersResponse {
    UsersResponse(users: try await users(request, context))
  }

  private func lookUpEmail(
    _ request: FindUsersRequest<UserSearchByEmail>, _ context: RequestContext
  ) async throws -> LookedUpUsersResponse {
    LookedUpUsersResponse(users: try await users(request, context))
  }

  private func lookUpID(
    _ request: FindUsersRequest<UserSearchByID>, _ context: RequestContext
  ) async throws -> LookedUpUsersResponse {
    LookedUpUsersResponse(users: try await users(request, context))
  }

  /// Answers `users/lookup/contacts`.
  ///
  /// Without contacts it lists all other users who permit discovery, because the server has no
  /// address books: such a user counts as everyone's contact. With contacts it lists the users who
  /// permit discovery and have the addresses of these contacts.
  private func lookUpContacts(
    _ request: FindUsersRequest<UserSearchByContact>?, _ context: RequestContext
  ) async throws -> LookedUpUsersResponse {
    LookedUpUsersResponse(users: try await users(request, context))
  }

  /// Returns the users for whom a request asks; without arguments, all other users who permit
  /// discovery.
  private func users<Kind: UserSearchKind>(
    _ request: FindUsersRequest<Kind>?, _ context: RequestContext
  ) async throws -> [UserIdentity] {
    guard let lookups = request?.lookups else {
      return try await others(than: try context.user(), context)
    }
    return try await found(lookups, context)
  }

  /// Returns all users who permit discovery, without the caller. The method reads at most
  /// ``listLimit`` users.
  private func others(
    than caller: String, _ context: RequestContext
  ) async throws -> [UserIdentity] {
    try await store.discoverableUsers(
      container: context.path.container, environment: context.path.environment,
      limit: Self.listLimit
    ).filter { $0.userRecordName != caller }.map {
      Self.identity(of: $0, by: UserLookup(userRecordName: $0.userRecordName))
    }
  }

  /// Returns the users who were found, in the order of the request, and leaves out users who were
  /// not found. Callers find themselves by their record name, also without a permission.
  private func found(
    _ lookups: [UserLookup], _ context: RequestContext
  ) async throws -> [UserIdentity] {
    let users = try await store.discoverableUsers(
      matching: lookups, container: context.path.container,
      environment: context.path.environment)
    let caller = try context.user()
    let ownNames: Set<String?> = [caller, ZoneID.currentOwnerName]
    let own =
      lookups.contains { ownNames.contains($0.userRecordName) }
      ? try await store.user(withRecordName: caller) : nil
    return zip(lookups, users).compactMap { lookup, user in
      (user ?? (ownNames.contains(lookup.userRecordName) ? own : nil)).map {
        Self.identity(of: $0, by: lookup)
      }
    }
  }

  /// Returns the part of a user that others may see: the name, the record name, and the address,
  /// number or record name by which the user was found.
  private static func identity(of user: User, by lookup: UserLookup) -> UserIdentity {
    UserIdentity(
      userRecordName: user.userRecordName, nameComponents: user.profile.nameComponents,
      lookup: lookup)
  }

  // MARK: Permissions

  /// Answers `users/permissions`: stores the permissions in the body, if there is a body, and
  /// returns all permissions that the caller gives to the app.
  private func permissions(
    _ request: PermissionsMessage?, _ context: RequestContext
  ) async throws -> PermissionsMessage {
    let caller = try context.user()
    if let request {
      try await store.setApplicationPermissions(
        request.statuses,
        by: ContainerMaker(userRecordName: caller, timestamp: context.now),
        container: context.path.container, environment: context.path.environment)
    }
    let decided = try await store.applicationPermissions(
      of: caller, container: context.path.container, environment: context.path.environment)
    var statuses: [ApplicationPermission: ApplicationPermission.Status] = [:]
    for permission in ApplicationPermission.allCases {
      statuses[permission] = decided[permission] ?? .initialState
    }
    return PermissionsMessage(statuses: statuses)
  }
}
