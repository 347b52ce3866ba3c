import CloudKitModel
import Cryptography
import HTTP2Transport

/// The sending of pushes and the handling of answers. All methods run on the event loop's thread.
extension APNsClient {
  /// The number of attempts after which a push that APNs did not process is no longer put back into
  /// the queue.
  private static let greatestAttempts = 3

  /// Collects new pushes from the intake, sends as many waiting pushes as the connections can take,
  /// and reports the number of those that still wait to the pool.
  func pump() {
    queue.append(contentsOf: intake.collect())
    if pool.isClosed { failWaiting("the client is closed") }
    if !queue.isEmpty { sendWaiting() }
    handle(.waiting(queue.count))
    publishMetrics()
  }

  /// Runs ``pump()`` once after the other events that the loop handles now, also if the method is
  /// called several times.
  func schedulePump() {
    guard !isPumpScheduled else { return }
    isPumpScheduled = true
    loop.execute {
      self.isPumpScheduled = false
      self.pump()
    }
  }

  /// Answers all waiting pushes with ``PushAnswer/notSent(_:)``.
  func failWaiting(_ reason: String) {
    queue.append(contentsOf: intake.collect())
    let items = queue.removeAll()
    changes.waiting -= items.count
    changes.notSent += items.count
    // The metrics are published first, so that the completion of a push finds the push counted.
    publishMetrics()
    for item in items { item.completion(.notSent(reason)) }
  }

  /// Sends waiting pushes while a connection has capacity. If a provider token is needed and cannot
  /// be had, all waiting pushes are answered as not sent.
  private func sendWaiting() {
    guard pool.next != nil else { return }
    let token: String?
    switch configuration.authentication {
    case .certificate:
      token = nil
    case .tokens(let source):
      do throws(CryptographyError) {
        token = try source.token(at: clock())
      } catch {
        return failWaiting("the provider token cannot be created: \(error)")
      }
      guard token != nil else {
        return failWaiting("APNs asked for fewer provider tokens, and the last one has expired")
      }
    }
    let authorization = token.map { "bearer \($0)" }
    var number = 0
    var connection: HTTP2ClientConnection?
    // The loop reads `pool.next` again for each push, because a send may show that the connection
    // is gone.
    while !queue.isEmpty, let next = pool.next {
      if next.number != number {
        number = next.number
        connection = connections[number]
      }
      guard let connection, let item = queue.popFirst() else { return }
      _ = pool.handle(.sent(number), at: loop.now)
      changes.waiting -= 1
      changes.inFlight += 1
      item.attempts += 1
      item.connection = number
      item.token = token
      connection.send(HTTP2Request(item.push, authorization: authorization)) { outcome in
        self.finish(item, outcome)
      }
    }
  }

  /// Handles the end of a request: calls the push's completion, or puts the push back into the
  /// queue.
  ///
  /// - A push whose provider token APNs reports as expired is repeated once, if another token is
  ///   available.
  /// - A push that APNs certainly did not process is repeated, up to three attempts in all.
  /// - After any other answer with status 403, the connection gets no more pushes and closes.
  private func finish(_ item: PushItem, _ outcome: Result<HTTP2Response, HTTP2Error>) {
    let number = item.connection
    changes.inFlight -= 1
    schedulePump()
    switch outcome {
    case .success(let response):
      let answer = PushAnswer(response)
      _ = pool.handle(.finished(number, status: response.status), at: loop.now)
      if let token = item.token, case .tokens(let source) = configuration.authentication {
        if answer.saysTooManyTokens { source.complained(at: clock()) }
        if answer.saysTokenExpired, !item.hadTokenRenewed, !pool.isClosed,
          source.rejected(token, at: clock())
        {
          item.hadTokenRenewed = true
          return putBack(item)
        }
      }
      if answer.status == 403, !answer.saysTokenExpired {
        refused(number, reason: "APNs refused the sender: \(answer.code ?? "without a reason")")
      }
      complete(item, answer)
    case .failure(let error):
      _ = pool.handle(.finished(number, status: nil), at: loop.now)
      if error.isSafeToRepeat, item.attempts < Self.greatestAttempts, !pool.isClosed {
        return putBack(item)
      }
      complete(item, PushAnswer(error))
    }
  }

  /// Puts a push back into the queue. The queue may then exceed the limit of the intake, but at
  /// most by the number of streams, because each such push had a stream.
  private func putBack(_ item: PushItem) {
    changes.waiting += 1
    queue.append(item)
  }

  private func complete(_ item: PushItem, _ answer: PushAnswer) {
    switch answer.reach {
    case .answered where answer.next == .done: changes.accepted += 1
    case .answered: changes.rejected += 1
    case .unanswered: changes.unknown += 1
    case .notSent: changes.notSent += 1
    }
    item.completion(answer)
  }

  /// Adds the changes since the last call to the published metrics.
  func publishMetrics() {
    changes.isConnected = pool.isConnected
    changes.openConnections = pool.connections.count
    intake.update { [changes] in $0.add(changes) }
    changes = Metrics()
  }
}
