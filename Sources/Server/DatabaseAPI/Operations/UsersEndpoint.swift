import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// `users/…`: who makes a request, and which other users may be found.
struct UsersEndpoint: Sendable {
  /// Users in an answer that lists all of them.
  private static let listLimit = 1000

  let store: any AccountReading & DiscoveryStore

  var operations: [Operation] {
    let all = "The other users who permit it to be found, at most \(Self.listLimit)"
    let found =
      "Those who were found, as Apple's reference has them and as users/discover has them."
    return [
      Operation(
        "users/caller", of: .anyDatabase, for: .accounts, .reads, caller,
        .init("Users", "The caller", answer: "The caller's user dictionary.")),
      Operation(
        "users/current", of: .anyDatabase, for: .accounts, .reads, current,
        .init(
          "Users", "The caller, as clients read it before users/caller", answer: "The caller.")),
      Operation(
        "users/discover", of: .anyDatabase, for: .users, .reads, maybe: discover,
        .init(
          "Users", "Users by address, number or record name",
          "Without a body: \(all). Users who do not permit it are not found.",
          answer: "Those who were found, each with what they were found by.")),
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
          "What the caller permits the app; with a body, permit the app something or deny it",
          "Petrel's own.", answer: "Each permission.")),
    ]
  }

  /// The caller's user dictionary.
  private func caller(_ context: RequestContext) async throws -> UserResponse {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return UserResponse(
      userRecordName: userRecordName, nameComponents: profile?.nameComponents,
      lookup: UserLookup(
        emailAddress: profile?.emailAddress, phoneNumber: profile?.phoneNumber,
        userRecordName: userRecordName))
  }

  /// The caller, as clients read it before `users/caller`.
  private func current(_ context: RequestContext) async throws -> CurrentUserResponse {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return CurrentUserResponse(
      userRecordName: userRecordName, firstName: profile?.nameComponents?.givenName,
      lastName: profile?.nameComponents?.familyName, emailAddress: profile?.emailAddress)
  }

  // MARK: Finding others

  /// Without a body, all others who permit it to be found; with one, those who are looked for.
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

  /// All others, for who permits it counts as everyone's contact; or those whose addresses the
  /// request lists.
  private func lookUpContacts(
    _ request: FindUsersRequest<UserSearchByContact>?, _ context: RequestContext
  ) async throws -> LookedUpUsersResponse {
    LookedUpUsersResponse(users: try await users(request, context))
  }

  private func users<Kind: UserSearchKind>(
    _ request: FindUsersRequest<Kind>?, _ context: RequestContext
  ) async throws -> [UserIdentity] {
    guard let lookups = request?.lookups else {
      return try await others(than: try context.user(), context)
    }
    return try await found(lookups, context)
  }

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

  private func found(
    _ lookups: [UserLookup], _ context: RequestContext
  ) async throws -> [UserIdentity] {
    let users = try await store.discoverableUsers(
      matching: lookups, container: context.path.container,
      environment: context.path.environment)
    return zip(lookups, users).compactMap { lookup, user in
      user.map { Self.identity(of: $0, by: lookup) }
    }
  }

  /// What others get to know of a user: the name, and what they knew already.
  private static func identity(of user: User, by lookup: UserLookup) -> UserIdentity {
    UserIdentity(
      userRecordName: user.userRecordName, nameComponents: user.profile.nameComponents,
      lookup: lookup)
  }

  // MARK: Permissions

  /// Without a body, what the caller permits the app; with one, sets it.
  private func permissions(
    _ request: PermissionsMessage?, _ context: RequestContext
  ) async throws -> PermissionsMessage {
    let caller = try context.user()
    if let request {
      try await store.setApplicationPermissions(
        request.statuses, of: caller,
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
