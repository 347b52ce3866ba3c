import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Random requests of an owner and two participants, against a plain model of who sees what and
  /// who learns of which change.
  struct SharedModel {
    static let engines = StoreEngine.allCases

    /// The records and shares of a zone, as a plain model has them.
    private struct Model: Equatable {
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
    }

    @Test(
      "random requests of an owner and participants have the outcomes of a plain model",
      arguments: engines, Seeds.some(4))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: seed)
        let alice = try await SharingUser(TestStore.alice, test)
        let users = [
          try await SharingUser(TestStore.bob, test), try await SharingUser("_carol", test),
        ]
        let zone = try await test.makeZone("z")
        let names = (0..<7).map { "r\($0)" }
        let all = names + names.map { SharingUser.shareName(of: $0) }
        for user in users { try await user.subscribe() }
        var model = Model()
        var links: [String: String] = [:]
        var history: [String] = []
        for _ in 0..<200 {
          var name = random.pick(names)
          var parent = random.chance(1, in: 4) ? nil : random.pick(names)
          let user = random.pick(users)
          let seen = model.seen(by: user.name).intersection(names).sorted()
          let invitations = model.shares.filter { $0.value[user.name]?.isAccepted == false }
            .keys.sorted()
          let before = model
          var outcome = ""
          var expected = ""
          switch Int.random(in: 0..<12, using: &random) {
          case 0, 1:
            outcome = try await test.modify(
              [SharingUser.saving(name, below: parent, in: zone)], in: alice.privateID)[0].summary
            expected = model.save(name, below: parent)
            history.append("save \(name) below \(parent ?? "-")")
          case 2:
            outcome = try await test.delete(name, zone: zone, in: alice.privateID).summary
            expected = model.delete(name)
            history.append("delete \(name)")
          case 3, 4:
            var invited: [String: SharePermission] = [:]
            for user in users where random.chance(4, in: 5) {
              invited[user.name] = random.chance(3, in: 4) ? .readWrite : .readOnly
            }
            let roots = model.shares.keys.sorted()
            if random.chance(1, in: 2), !roots.isEmpty { name = random.pick(roots) }
            let link = try await alice.linkOfShare(
              name, in: zone,
              with: invited.map { SharingUser.participant($0.key, $0.value) })
            outcome = link == nil ? "refused" : "saved"
            expected = model.share(name, with: invited) ? "saved" : "refused"
            if let link { links[name] = link }
            history.append("share \(name) with \(invited)")
          case 5, 6:
            if random.chance(3, in: 4), !invitations.isEmpty { name = random.pick(invitations) }
            guard let link = links[name] else { continue }
            let failure: ItemFailure.Code? = await {
              do {
                try await user.accept(link)
                return nil
              } catch { return (error as? ItemFailure)?.code }
            }()
            outcome = failure == nil ? "accepted" : "refused"
            expected = model.shares[name]?[user.name] == nil ? "refused" : "accepted"
            model.shares[name]?[user.name]?.isAccepted = true
            history.append("\(user.name) accepts \(name)")
          case 7:
            let share = SharingUser.shareName(of: name)
            if random.chance(1, in: 2) {
              outcome = try await test.delete(share, zone: zone, in: alice.privateID).summary
              expected = "deleted"
              model.shares[name] = nil
              history.append("end \(name)")
            } else {
              outcome = try await user.modify([SharingUser.deleting(share, in: zone.ofAlice)])[0]
                .summary
              expected = model.takesPart(user.name) ? "deleted" : "zoneNotFound"
              if model.shares[name]?[user.name]?.isAccepted == true {
                model.shares[name]?[user.name] = nil
              }
              history.append("\(user.name) leaves \(name)")
            }
          case 8:
            outcome = try await user.modify([SharingUser.deleting(name, in: zone.ofAlice)])[0]
              .summary
            expected = model.delete(name, by: user.name)
            history.append("\(user.name) deletes \(name)")
          default:
            if random.chance(1, in: 2), !seen.isEmpty { parent = random.pick(seen) }
            if random.chance(1, in: 3), !seen.isEmpty { name = random.pick(seen) }
            outcome = try await user.modify([
              SharingUser.saving(name, below: parent, in: zone.ofAlice)
            ])[0].summary
            expected = model.save(name, below: parent, by: user.name)
            history.append("\(user.name) saves \(name) below \(parent ?? "-")")
          }
          let comment: Comment = "seed \(seed): \(history.suffix(40))"
          #expect(outcome == expected, comment)
          let logged = try await test.dispatchWithForwards()
          let isChange = outcome == "saved" || model != before
          for user in users {
            let sees = [before, model].contains { $0.part(of: user.name, in: name) != nil }
            #expect(
              logged.lines(of: user).isEmpty != (isChange && sees), "\(user.name): \(comment)")
          }
          for user in users {
            let found = try await test.store.records.records(
              all.map { RecordID(recordName: $0, zoneID: zone.ofAlice) }, in: user.sharedID)
            let seen = Set(found.compactMap { $0?.recordID.recordName })
            #expect(seen == model.seen(by: user.name), comment)
            #expect(try await user.zones().isEmpty == seen.isEmpty, comment)
            guard !seen.isEmpty else { continue }
            #expect(
              try await Set(user.found(in: zone.ofAlice)) == seen.intersection(names), comment)
          }
          let owned = try await test.store.records.records(
            names.map { RecordID(recordName: $0, zoneID: zone) }, in: alice.privateID)
          var parents: [String: String?] = [:]
          for record in owned.compactMap(\.self) {
            parents[record.recordID.recordName] = .some(record.parent?.recordName)
          }
          #expect(parents == model.records, comment)
        }
      }
    }
  }
}
