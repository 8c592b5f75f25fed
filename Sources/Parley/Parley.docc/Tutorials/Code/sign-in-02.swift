import Parley
import ParleyObservation
import SwiftUI

struct SignInView: View {
    let session: SessionModel
    @State private var isNew = false
    @State private var name = ""
    @State private var username = ""
    @State private var password = ""

    var body: some View {
        VStack {
            if isNew {
                TextField("Your name, as others see it", text: $name)
            }
            TextField("Username", text: $username)
            SecureField("Password, at least 8 characters", text: $password)
            if let error = session.error {
                Text(sentence(for: error))
            }
            Button(isNew ? "Create account" : "Sign in") {
                Task {
                    if isNew {
                        await session.register(username: username, password: password, name: name)
                    } else {
                        await session.signIn(.password(username: username, password: password))
                    }
                }
            }
            .disabled(session.isBusy)
            Button(isNew ? "I have an account" : "I am new here") { isNew.toggle() }
        }
    }

    private func sentence(for error: ParleyError) -> String {
        switch error.code {
        case "wrong_credentials": "Username or password is wrong."
        case "username_taken": "This username is taken. Choose another one."
        case "invalid": error.problem?.errors.map { "Check the field \($0.field)." }.formatted() ?? "Check the fields."
        default: error.isTemporary ? "The server cannot be reached. Try again later." : "That did not work."
        }
    }
}
