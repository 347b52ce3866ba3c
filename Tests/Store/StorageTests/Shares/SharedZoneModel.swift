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
  /// The targets of `deleteSelf` references, by the records that have them.
  var targets: [String: String] = [:]
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

  // MARK: Deletions

  /// Whether a user may delete a record directly.
  func mayDelete(_ name: String, by user: String) -> Bool {
    part(of: user, in: name)?.permission == .readWrite && shares[name] == nil
  }

  /// Deletes a record, and those that refer to it by `deleteSelf`, as far as a rule permits.
  private mutating func delete(_ name: String, with isDeletable: (String) -> Bool) -> String {
    var gone: Set = [name]
    var pending = [name]
    while let next = pending.popLast() {
      let holders = targets.filter { $0.value == next && !gone.contains($0.key) }.keys
        .filter(isDeletable)
      gone.formUnion(holders)
      pending += holders
    }
    let isParent = records.contains { child, parent in
      !gone.contains(child) && parent.map(gone.contains) == true
    }
    guard !isParent else { return "referenced" }
    for name in gone {
      records[name] = nil
      targets[name] = nil
      shares[name] = nil
    }
    return "deleted"
  }

  // MARK: Requests of the owner

  mutating func save(_ name: String, below parent: String?, with target: String?) -> String {
    let outcome = place(name, below: parent)
    if outcome == "saved" { targets[name] = target }
    return outcome
  }

  private mutating func place(_ name: String, below parent: String?) -> String {
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
    return delete(name) { _ in true }
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

  mutating func save(
    _ name: String, below parent: String?, with target: String?, by user: String
  ) -> String {
    guard takesPart(user) else { return "zoneNotFound" }
    let isNewTarget = target != nil && target != targets[name]
    let isMoved = records[name] != .some(parent)
    if records[name] != nil {
      guard part(of: user, in: name)?.permission == .readWrite else { return "accessDenied" }
      if shares[name] != nil, isNewTarget || parent != nil { return "accessDenied" }
    }
    if shares[name] == nil, isMoved {
      guard let parent else { return "accessDenied" }
      guard let part = part(of: user, in: parent) else { return "referenceMissing" }
      guard part.permission == .readWrite else { return "accessDenied" }
    }
    if isNewTarget, let target, part(of: user, in: target) == nil { return "referenceMissing" }
    if shares[name] == nil, isMoved {
      if let parent, path(of: parent).contains(name) { return "invalid" }
      records[name] = .some(parent)
    }
    targets[name] = target
    return "saved"
  }

  mutating func delete(_ name: String, by user: String) -> String {
    guard takesPart(user) else { return "zoneNotFound" }
    guard records[name] != nil, part(of: user, in: name) != nil else { return "deleted" }
    guard mayDelete(name, by: user) else { return "accessDenied" }
    return delete(name) { [self] in mayDelete($0, by: user) }
  }

  // MARK: Accounts

  /// Takes a user's parts away, with the account.
  mutating func delete(user: String) {
    for root in shares.keys { shares[root]?[user] = nil }
  }
}
