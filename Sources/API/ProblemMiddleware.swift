// The outermost middleware: whatever goes wrong behind it, the framework's own refusals included, leaves as a problem
// document.
import Domain
import HTTPTypes
import Hummingbird
import Logging

struct ProblemMiddleware: RouterMiddleware {
    let table: RouteTable

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as CancellationError {
            // The client has gone, or the drain has ended: the adapter knows which.
            throw error
        } catch {
            return answer(to: error, request, context).response
        }
    }

    private func answer(to error: any Error, _ request: Request, _ context: APIContext) -> Answer {
        // Only the router throws this: a path that there isn't, or not with this method.
        if let error = error as? HTTPError, error.status == .notFound {
            let methods = table.methods(for: request.uri.path)
            // Of a path that only looks like one of ours (a slash too many before what the router never sees) none is.
            if !methods.isEmpty, !methods.contains(request.method) {
                return Self.methodNotAllowed(request.method, methods)
            }
        }
        return Failure(error).answer(requestID: context.id, logger: context.logger)
    }

    private static func methodNotAllowed(_ method: HTTPRequest.Method, _ methods: [HTTPRequest.Method]) -> Answer {
        let allowed = methods.map(\.rawValue).joined(separator: ", ")
        var answer = ProblemDocument.answer(
            Problem(.methodNotAllowed, "\(method.rawValue) is not for this path; it has \(allowed)."))
        answer.headers[.allow] = allowed
        return answer
    }
}
