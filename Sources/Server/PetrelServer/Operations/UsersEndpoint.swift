import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// `users/…`: who makes a request, and which other users may be found.
struct UsersEndpoint: Sendable {
  /// Users in an answer that lists all of them.
  private static let listLimit = 1000

  let store: any AccountReading & DiscoveryStore

  /// The caller's user dictionary.
  func caller(_ context: RequestContext) async throws -> Data {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return UserResponse(
      userRecordName: userRecordName, nameComponents: profile?.nameComponents,
      lookup: UserLookup(
        emailAddress: profile?.emailAddress, phoneNumber: profile?.phoneNumber,
        userRecordName: userRecordName)
    ).body
  }

  /// The caller in the old form.
  func current(_ context: RequestContext) async throws -> Data {
    let userRecordName = try context.user()
    let profile = try await store.user(withRecordName: userRecordName)?.profile
    return CurrentUserResponse(
      userRecordName: userRecordName, firstName: profile?.nameComponents?.givenName,
      lastName: profile?.nameComponents?.familyName, emailAddress: profile?.emailAddress
    ).body
  }

  // MARK: Finding others

  /// Without a body, all others who permit it to be found; with one, those who are looked for.
  func discover(_ context: RequestContext) async throws -> Data {
    let caller = try context.user()
    let users =
      context.body.isEmpty
      ? try await others(than: caller, context)
      : try await found(
        try LookupUsersRequest(
          parsing: context.body, listedAs: "lookupInfos",
          by: ["emailAddress", "phoneNumber", "userRecordName"]), context)
    return UsersResponse(users: users).body
  }

  func lookUpEmail(_ context: RequestContext) async throws -> Data {
    try await lookUp(context, by: "emailAddress")
  }

  func lookUpID(_ context: RequestContext) async throws -> Data {
    try await lookUp(context, by: "userRecordName")
  }

  private func lookUp(_ context: RequestContext, by member: String) async throws -> Data {
    _ = try context.user()
    let request = try LookupUsersRequest(
      parsing: context.body, listedAs: "users", by: [member])
    return LookedUpUsersResponse(users: try await found(request, context)).body
  }

  /// All others, for who permits it counts as everyone's contact; or those whose addresses the
  /// request lists.
  func lookUpContacts(_ context: RequestContext) async throws -> Data {
    let caller = try context.user()
    let request = try LookupUsersRequest(
      parsing: context.body, maybeListedAs: "contacts", by: ["emailAddress", "phoneNumber"])
    let users =
      if let request {
        try await found(request, context)
      } else {
        try await others(than: caller, context)
      }
    return LookedUpUsersResponse(users: users).body
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
    _ request: LookupUsersRequest, _ context: RequestContext
  ) async throws -> [UserIdentity] {
    let users = try await store.discoverableUsers(
      matching: request.lookups, container: context.path.container,
      environment: context.path.environment)
    return zip(request.lookups, users).compactMap { lookup, user in
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
  func permissions(_ context: RequestContext) async throws -> Data {
    let caller = try context.user()
    if !context.body.isEmpty {
      try await store.setApplicationPermissions(
        try PermissionsMessage(parsing: context.body).statuses, of: caller,
        container: context.path.container, environment: context.path.environment)
    }
    let decided = try await store.applicationPermissions(
      of: caller, container: context.path.container, environment: context.path.environment)
    var statuses: [ApplicationPermission: ApplicationPermission.Status] = [:]
    for permission in ApplicationPermission.allCases {
      statuses[permission] = decided[permission] ?? .initialState
    }
    return PermissionsMessage(statuses: statuses).body
  }
}
