import Foundation
import Synchronization

/// A DNS server that says of each name what a script says next, with UDP at port 53 of an address of this
/// machine (RFC 1035).
final class NameServer: Sendable {
  /// The addresses of a name in one answer.
  typealias Answer = [String]

  fileprivate struct Question: Hashable {
    var name: String
    /// 1 asks for addresses of IPv4, 28 for those of IPv6. A resolver asks for both at the same time.
    var type: UInt8
  }

  fileprivate struct State {
    var answers: [String: [Answer]] = [:]
    var silent: Set<String> = []
    var asked: [Question: Int] = [:]
  }

  /// Where it listens: some address of this machine, so that others may have name servers, too.
  let address: String

  private let descriptor: Int32
  private let state = Mutex(State())

  /// Nil where this process may not listen at port 53.
  init?() {
    guard let (address, descriptor) = Self.socket() else { return nil }
    self.address = address
    self.descriptor = descriptor
    let thread = Thread { [self] in
      run()
      close(descriptor)
    }
    thread.start()
  }

  /// Whether this process may listen at port 53.
  static var canListen: Bool {
    guard let (_, descriptor) = socket() else { return false }
    close(descriptor)
    return true
  }

  private static func socket() -> (address: String, descriptor: Int32)? {
    let address = "127.53.\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
    let descriptor = Foundation.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard Sockets.call(bind, descriptor, address, port: 53) else {
      close(descriptor)
      return nil
    }
    return (address, descriptor)
  }

  /// Answers for a name, one after the other; the last one again and again.
  func script(_ name: String, _ answers: [Answer]) {
    state.withLock { $0.answers[name] = answers }
  }

  /// Questions about the name are never answered.
  func keepSilent(about name: String) {
    state.withLock { _ = $0.silent.insert(name) }
  }

  /// How often a name was asked for.
  func count(of name: String) -> Int {
    state.withLock { $0.asked[Question(name: name, type: 1)] ?? 0 }
  }

  /// Ends the thread, by a datagram without bytes. To be called once.
  func stop() {
    _ = Sockets.call({ sendto($0, nil, 0, 0, $1, $2) == 0 ? 0 : -1 }, descriptor, address, port: 53)
  }

  private func run() {
    var buffer = [UInt8](repeating: 0, count: 512)
    while true {
      var peer = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &peer) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &buffer, buffer.count, 0, $0, &size)
        }
      }
      guard count > 0 else { return }
      guard let reply = reply(to: Array(buffer[..<count])) else { continue }
      _ = withUnsafePointer(to: &peer) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, reply, reply.count, 0, $0, size)
        }
      }
    }
  }

  /// A header of 12 bytes, and one question: labels with their lengths, type and class.
  private func reply(to query: [UInt8]) -> [UInt8]? {
    var labels: [String] = []
    var place = 12
    while place < query.count, query[place] > 0 {
      let end = place + 1 + Int(query[place])
      guard end < query.count else { return nil }
      labels.append(String(decoding: query[(place + 1)..<end], as: UTF8.self).lowercased())
      place = end
    }
    guard place + 5 <= query.count else { return nil }
    let question = Array(query[12..<(place + 5)])
    let type = query[place + 2]
    let name = labels.joined(separator: ".")
    let (answer, isSilent) = state.withLock {
      ($0.next(Question(name: name, type: type)), $0.silent.contains(name))
    }
    guard !isSilent else { return nil }
    let addresses = (answer ?? []).filter { $0.contains(":") == (type == 28) }
    var reply = Array(query[..<2])
    // A final answer; NXDOMAIN for names without a script.
    reply += [0x85, answer == nil ? 0x83 : 0x80, 0, 1, 0, UInt8(addresses.count), 0, 0, 0, 0]
    reply += question
    for address in addresses {
      let bytes = Sockets.bytes(of: address)
      // The question's name, type and class, no time to live, the address.
      reply += [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, UInt8(bytes.count)] + bytes
    }
    return reply
  }
}

extension NameServer.State {
  fileprivate mutating func next(_ question: NameServer.Question) -> NameServer.Answer? {
    guard let script = answers[question.name] else { return nil }
    let number = asked[question, default: 0]
    asked[question] = number + 1
    return script[min(number, script.count - 1)]
  }
}

/// A port that no client may connect to. It listens, and reports the clients that connected.
struct Trap {
  private let descriptor: Int32

  /// Nil where the port of the address is taken.
  init?(at address: String, port: Int) {
    descriptor = socket(
      address.contains(":") ? AF_INET6 : AF_INET,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard Sockets.call(bind, descriptor, address, port: port), listen(descriptor, 100) == 0 else {
      close(descriptor)
      return nil
    }
  }

  /// How many connections were made since it was last asked.
  func take() -> Int {
    var count = 0
    while true {
      let connection = accept(descriptor, nil, nil)
      guard connection >= 0 else { return count }
      close(connection)
      count += 1
    }
  }

  func stop() { close(descriptor) }
}

enum Sockets {
  /// Has a function of sockets do its work with an address; false where it fails.
  static func call(
    _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32,
    _ address: String, port: Int
  ) -> Bool {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let found else { return false }
    defer { freeaddrinfo(found) }
    guard let name = found.pointee.ai_addr else { return false }
    return function(descriptor, name, found.pointee.ai_addrlen) == 0
  }

  static func bytes(of address: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: address.contains(":") ? 16 : 4)
    inet_pton(address.contains(":") ? AF_INET6 : AF_INET, address, &bytes)
    return bytes
  }
}
