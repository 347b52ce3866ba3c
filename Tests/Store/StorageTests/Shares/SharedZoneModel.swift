import CloudKitModel
import StoreModel

/// The records and shares of a zone, as a plain model has them.
struct SharedZoneModel: Equatable {
  /// A user's part in a share.
  struct Part: Equatable {
    var permission: SharePermission
    var isAccepted = false
  }

  /// The parent of each record; nil for a record without one.
  var records: [String: String?] = [:]
  /// The participants of each share, by the name of its root.
  var shares: [String: [String: Part]] = [:]

  /// The record and its ancestors, the nearest first.
  func path(of name: String) -> [String] {
    var path: [String] = []
    var next: String? = name
    while let name = next, let parent = records[name], !path.contains(name) {
      path.append(name)
      next = parent
    }
    return path
  }

  func hasChildren(_ name: String) -> Bool { records.values.contains(name) }

  /// The root of the share that covers a record; nil if it is not shared.
  func root(of name: String) -> String? { path(of: name).first { shares[$0] != nil } }

  /// The part of a user who has accepted the share of a record; nil if the user does not see it.
  func part(of user: String, in name: String) -> Part? {
    root(of: name).flatMap { shares[$0]?[user] }.flatMap { $0.isAccepted ? $0 : nil }
  }

  func seen(by user: String) -> Set<String> {
    let roots = shares.keys.filter { shares[$0]?[user]?.isAccepted == true }
    return Set(records.keys.filter { part(of: user, in: $0) != nil })
      .union(roots.map { SharingUser.shareName(of: $0) })
  }

  // MARK: Requests of the owner

  mutating func save(_ name: String, below parent: String?) -> String {
    if let parent, parent != name, records[parent] == nil { return "referenceMissing" }
    if parent == name, records[name] == nil { return "referenceMissing" }
    guard records[name] != .some(parent) else { return "saved" }
    if let parent {
      let ancestors = path(of: parent)
      if ancestors.contains(name) { return "invalid" }
      let isShared = ancestors.contains { shares[$0] != nil }
      if isShared, shares.keys.contains(where: { path(of: $0).contains(name) }) {
        return "alreadyShared"
      }
    }
    records[name] = .some(parent)
    return "saved"
  }

  mutating func delete(_ name: String) -> String {
    guard records[name] != nil else { return "deleted" }
    guard !hasChildren(name) else { return "referenced" }
    records[name] = nil
    shares[name] = nil
    return "deleted"
  }

  /// Shares a hierarchy with some users, or changes the list of its share.
  mutating func share(_ root: String, with users: [String: SharePermission]) -> Bool {
    let before = shares[root]
    if before == nil {
      // A new root is saved with its share.
      let others = Set(shares.keys)
      if path(of: root).contains(where: others.contains) { return false }
      if others.contains(where: { path(of: $0).contains(root) }) { return false }
      if records[root] == nil { records[root] = .some(nil) }
    }
    shares[root] = [:]
    for (user, permission) in users {
      shares[root]?[user] = Part(
        permission: permission, isAccepted: before?[user]?.isAccepted ?? false)
    }
    return true
  }

  // MARK: Requests of participants

  func takesPart(_ user: String) -> Bool {
    shares.values.contains { $0[user]?.isAccepted == true }
  }

  mutating func save(_ name: String, below parent: String?, by user: String) -> String {
    guard takesPart(user) else { return "zoneNotFound" }
    func place() -> String? {
      guard let parent else { return "accessDenied" }
      guard let part = part(of: user, in: parent) else { return "referenceMissing" }
      return part.permission == .readWrite ? nil : "accessDenied"
    }
    guard records[name] != nil else {
      if let refusal = place() { return refusal }
      records[name] = .some(parent)
      return "saved"
    }
    guard let part = part(of: user, in: name), part.permission == .readWrite else {
      return "accessDenied"
    }
    if shares[name] != nil { return parent == nil ? "saved" : "accessDenied" }
    guard records[name] != .some(parent) else { return "saved" }
    if let refusal = place() { return refusal }
    if let parent, path(of: parent).contains(name) { return "invalid" }
    records[name] = .some(parent)
    return "saved"
  }

  mutating func delete(_ name: String, by user: String) -> String {
    guard takesPart(user) else { return "zoneNotFound" }
    guard records[name] != nil, let part = part(of: user, in: name) else { return "deleted" }
    guard part.permission == .readWrite, shares[name] == nil else { return "accessDenied" }
    guard !hasChildren(name) else { return "referenced" }
    records[name] = nil
    return "deleted"
  }

  // MARK: Accounts

  /// Takes a user's parts away, with the account.
  mutating func delete(user: String) {
    for root in shares.keys { shares[root]?[user] = nil }
  }
}
