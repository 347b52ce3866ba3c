/// The writes of servers that read before they lock, as a state machine with every order in which their
/// steps can happen.
///
/// One database with its last number, and one record. Each write adds 1 to the record, so a lost update
/// shows. A statement is one step.
package struct LateLockModel: ProtocolModel {
  /// A rule that is removed from the protocol.
  package enum Flaw: CaseIterable {
    /// The write does not look whether the number has changed.
    case checksNothing
    /// The write looks before it has the lock.
    case checksBeforeLocking
    /// The write reads the record before the number.
    case readsTheRecordFirst
  }

  package struct Limits: Sendable {
    var servers: Int
    var writes: Int

    package init(servers: Int, writes: Int) {
      self.servers = servers
      self.writes = writes
    }
  }

  /// The part of the committed state that a server has read.
  struct Read: Hashable {
    var number: Int?
    var value: Int?
  }

  enum Server: Hashable {
    case idle
    /// It reads, and then decides.
    case reading(Read)
    /// It has found the number unchanged, and waits for the lock.
    case checked(Read)
    /// Its decision was dropped. It locks before it reads.
    case locksFirst
    /// It has the lock, and is about to commit.
    case writing(Read)
  }

  var servers: [Server]
  /// The server that has locked the database's row.
  var lock: Int?
  // The committed state.
  var number = 0
  var value = 0
  /// The number and the record after each commit.
  var log: [[Int]] = []
  var writes = 0

  init(limits: Limits) {
    servers = Array(repeating: .idle, count: limits.servers)
  }

  /// Goes through every state that can be reached.
  package static func explore(_ limits: Limits, flaw: Flaw? = nil) -> ProtocolVerdict {
    verdict(on: limits, flaw: flaw)
  }

  /// A number was drawn twice, or an update was lost.
  var isLogWrong: Bool { log != log.indices.map { [$0 + 1, $0 + 1] } }

  var hasWaitingChanges: Bool { servers.contains { $0 != .idle } }

  func steps(flaw: Flaw?) -> [LateLockModel] {
    servers.indices.compactMap { place in
      var next = self
      switch servers[place] {
      case .idle: return nil
      case .reading(var read) where read.number == nil || read.value == nil:
        if flaw == .readsTheRecordFirst ? read.value != nil : read.number == nil {
          read.number = number
        } else {
          read.value = value
        }
        next.servers[place] = .reading(read)
      case .reading(let read):
        let isUnchanged = read.number == number || flaw == .checksNothing
        if flaw == .checksBeforeLocking {
          next.servers[place] = isUnchanged ? .checked(read) : .locksFirst
        } else {
          guard lock == nil else { return nil }
          next.lock = isUnchanged ? place : nil
          next.servers[place] = isUnchanged ? .writing(read) : .locksFirst
        }
      case .checked(let read):
        guard lock == nil else { return nil }
        next.lock = place
        next.servers[place] = .writing(read)
      case .locksFirst:
        guard lock == nil else { return nil }
        next.lock = place
        next.servers[place] = .writing(Read(number: number, value: value))
      case .writing(let read):
        next.number = (read.number ?? 0) + 1
        next.value = (read.value ?? 0) + 1
        next.log.append([next.number, next.value])
        next.lock = nil
        next.servers[place] = .idle
      }
      return next
    }
  }

  func events(limits: Limits, flaw: Flaw?) -> [LateLockModel] {
    servers.indices.flatMap { place in
      var next: [LateLockModel] = []
      if servers[place] == .idle, writes < limits.writes {
        var begun = self
        begun.servers[place] = .reading(Read())
        begun.writes += 1
        next.append(begun)
      }
      if servers[place] != .idle {
        // The server dies, and its transaction with it.
        var dead = self
        dead.servers[place] = .idle
        if lock == place { dead.lock = nil }
        next.append(dead)
      }
      return next
    }
  }
}
